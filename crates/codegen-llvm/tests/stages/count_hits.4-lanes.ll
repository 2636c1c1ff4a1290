define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  %16 = alloca <16 x i1>, align 2
  %17 = alloca <16 x i1>, align 2
  br label %18

18:
  %19 = load i32, ptr %1, align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr i8, ptr %1, i64 4
  %22 = load i32, ptr %21, align 4
  %23 = zext i32 %22 to i64
  %24 = getelementptr i8, ptr %1, i64 8
  %25 = load i32, ptr %24, align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr i8, ptr %1, i64 16
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr %1, i64 20
  %31 = load i32, ptr %30, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 24
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 32
  %37 = load i64, ptr %36, align 8
  %38 = getelementptr i8, ptr %1, i64 40
  %39 = load i64, ptr %38, align 8
  %40 = getelementptr i8, ptr %1, i64 48
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr i8, ptr %1, i64 28
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr i8, ptr %1, i64 12
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr i8, ptr %1, i64 72
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr i8, ptr %1, i64 56
  %51 = load i64, ptr %50, align 8
  %52 = getelementptr i8, ptr %4, i64 %51
  %53 = load ptr, ptr %0, align 8
  %54 = getelementptr i8, ptr %0, i64 8
  %55 = load ptr, ptr %54, align 8
  %56 = add i64 %2, %3
  %57 = getelementptr i8, ptr %1, i64 80
  %58 = load ptr, ptr %57, align 8
  store i8 0, ptr %6, align 1
  %59 = icmp eq ptr %58, null
  %60 = select i1 %59, ptr %6, ptr %58
  br label %61

61:
  %62 = phi i64 [ %2, %18 ], [ %79, %78 ]
  %63 = icmp ult i64 %62, %56
  br i1 %63, label %64, label %80

64:
  %65 = load atomic i8, ptr %60 monotonic, align 1
  %66 = icmp ne i8 %65, 0
  br i1 %66, label %80, label %67

67:
  %68 = udiv i64 %62, %29
  %69 = urem i64 %62, %29
  %70 = urem i64 %68, %32
  %71 = udiv i64 %68, %32
  %72 = mul i64 %69, %20
  %73 = add i64 %72, %37
  %74 = mul i64 %70, %23
  %75 = add i64 %74, %39
  %76 = mul i64 %71, %26
  %77 = add i64 %76, %41
  br label %81

78:
  %79 = add i64 %62, 1
  br label %61

80:
  ret void

81:
  store i64 0, ptr %10, align 8
  br label %82

82:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %83

83:
  store i64 0, ptr %8, align 8
  br label %84

84:
  %85 = load i64, ptr %8, align 8
  %86 = sub i64 %20, %85
  %87 = icmp uge i64 %86, 16
  br i1 %87, label %100, label %113

88:
  br label %143

89:
  %90 = load i64, ptr %9, align 8
  %91 = add i64 %90, 1
  store i64 %91, ptr %9, align 8
  %92 = load i64, ptr %9, align 8
  %93 = icmp ult i64 %92, %23
  br i1 %93, label %83, label %94

94:
  %95 = load i64, ptr %10, align 8
  %96 = add i64 %95, 1
  store i64 %96, ptr %10, align 8
  %97 = load i64, ptr %10, align 8
  %98 = icmp ult i64 %97, %26
  br i1 %98, label %82, label %99

99:
  br label %78

100:
  %101 = load i64, ptr %8, align 8
  %102 = load i64, ptr %9, align 8
  %103 = load i64, ptr %10, align 8
  %104 = mul i64 %103, %23
  %105 = add i64 %104, %102
  %106 = mul i64 %105, %20
  %107 = add i64 %106, %101
  store <16 x i1> zeroinitializer, ptr %15, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  br label %115

108:
  %109 = load i64, ptr %8, align 8
  %110 = add i64 %109, 16
  store i64 %110, ptr %8, align 8
  %111 = load i64, ptr %8, align 8
  %112 = icmp ult i64 %111, %20
  br i1 %112, label %84, label %89

113:
  %114 = load i64, ptr %8, align 8
  store i64 %114, ptr %11, align 8
  store i64 %20, ptr %12, align 8
  br label %88

115:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %116 = add i64 %73, %101
  %117 = mul i64 %116, 4
  %118 = getelementptr i8, ptr %53, i64 %117
  %119 = load <16 x float>, ptr %118, align 4
  %120 = fcmp ogt <16 x float> %119, splat (float 5.000000e-01)
  %121 = xor <16 x i1> %120, splat (i1 true)
  %122 = load <16 x i1>, ptr %16, align 2
  %123 = or <16 x i1> %122, %120
  store <16 x i1> %123, ptr %16, align 2
  %124 = load <16 x i1>, ptr %17, align 2
  %125 = or <16 x i1> %124, %121
  store <16 x i1> %125, ptr %17, align 2
  br label %137

126:
  %127 = load <16 x i1>, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  %128 = bitcast <16 x i1> %127 to i16
  %129 = zext i16 %128 to i64
  %130 = call i64 @llvm.ctpop.i64(i64 %129)
  %131 = trunc i64 %130 to i32
  %132 = mul i32 1, %131
  %133 = atomicrmw add ptr %55, i32 %132 monotonic, align 4
  %134 = load <16 x i1>, ptr %17, align 2
  %135 = or <16 x i1> %134, %127
  store <16 x i1> %135, ptr %17, align 2
  br label %136

136:
  store <16 x i1> zeroinitializer, ptr %17, align 2
  store i32 -1, ptr %7, align 4
  br label %108

137:
  %138 = load <16 x i1>, ptr %16, align 2
  %139 = bitcast <16 x i1> %138 to i16
  %140 = icmp ne i16 %139, 0
  br i1 %140, label %141, label %142

141:
  br label %126

142:
  store <16 x i1> zeroinitializer, ptr %16, align 2
  br label %136

143:
  %144 = load i64, ptr %11, align 8
  %145 = load i64, ptr %9, align 8
  %146 = load i64, ptr %10, align 8
  %147 = mul i64 %146, %23
  %148 = add i64 %147, %145
  %149 = mul i64 %148, %20
  %150 = add i64 %149, %144
  br label %161

151:
  %152 = load i64, ptr %11, align 8
  %153 = add i64 %152, 1
  store i64 %153, ptr %11, align 8
  %154 = load i64, ptr %11, align 8
  %155 = load i64, ptr %12, align 8
  %156 = icmp ult i64 %154, %155
  br i1 %156, label %143, label %157

157:
  %158 = load i64, ptr %12, align 8
  store i64 %158, ptr %8, align 8
  %159 = load i64, ptr %12, align 8
  %160 = icmp ult i64 %159, %20
  br i1 %160, label %84, label %89

161:
  %162 = add i64 %73, %144
  %163 = mul i64 %162, 4
  %164 = getelementptr i8, ptr %53, i64 %163
  %165 = load float, ptr %164, align 4
  %166 = fcmp ogt float %165, 5.000000e-01
  br i1 %166, label %170, label %171

167:
  %168 = atomicrmw add ptr %55, i32 1 monotonic, align 4
  br label %169

169:
  store i32 -1, ptr %7, align 4
  br label %151

170:
  br label %167

171:
  br label %169
