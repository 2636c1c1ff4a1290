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
  %15 = alloca [256 x i8], align 64
  %16 = alloca <16 x i1>, align 2
  %17 = alloca <16 x i1>, align 2
  %18 = alloca <16 x i1>, align 2
  %19 = alloca <16 x i1>, align 2
  %20 = alloca i64, align 8
  %21 = alloca i64, align 8
  %22 = alloca [256 x i8], align 64
  %23 = alloca i64, align 8
  %24 = alloca i64, align 8
  br label %25

25:
  %26 = load i32, ptr %1, align 4
  %27 = zext i32 %26 to i64
  %28 = getelementptr i8, ptr %1, i64 4
  %29 = load i32, ptr %28, align 4
  %30 = zext i32 %29 to i64
  %31 = getelementptr i8, ptr %1, i64 8
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 16
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr i8, ptr %1, i64 20
  %38 = load i32, ptr %37, align 4
  %39 = zext i32 %38 to i64
  %40 = getelementptr i8, ptr %1, i64 24
  %41 = load i32, ptr %40, align 4
  %42 = zext i32 %41 to i64
  %43 = getelementptr i8, ptr %1, i64 32
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr i8, ptr %1, i64 40
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr i8, ptr %1, i64 48
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %1, i64 28
  %50 = load i32, ptr %49, align 4
  %51 = zext i32 %50 to i64
  %52 = getelementptr i8, ptr %1, i64 12
  %53 = load i32, ptr %52, align 4
  %54 = zext i32 %53 to i64
  %55 = getelementptr i8, ptr %1, i64 72
  %56 = load i64, ptr %55, align 8
  %57 = getelementptr i8, ptr %1, i64 56
  %58 = load i64, ptr %57, align 8
  %59 = getelementptr i8, ptr %4, i64 %58
  %60 = load ptr, ptr %0, align 8
  %61 = getelementptr i8, ptr %0, i64 8
  %62 = load ptr, ptr %61, align 8
  %63 = add i64 %2, %3
  %64 = getelementptr i8, ptr %1, i64 80
  %65 = load ptr, ptr %64, align 8
  store i8 0, ptr %6, align 1
  %66 = icmp eq ptr %65, null
  %67 = select i1 %66, ptr %6, ptr %65
  br label %68

68:
  %69 = phi i64 [ %2, %25 ], [ %86, %85 ]
  %70 = icmp ult i64 %69, %63
  br i1 %70, label %71, label %87

71:
  %72 = load atomic i8, ptr %67 monotonic, align 1
  %73 = icmp ne i8 %72, 0
  br i1 %73, label %87, label %74

74:
  %75 = udiv i64 %69, %36
  %76 = urem i64 %69, %36
  %77 = urem i64 %75, %39
  %78 = udiv i64 %75, %39
  %79 = mul i64 %76, %27
  %80 = add i64 %79, %44
  %81 = mul i64 %77, %30
  %82 = add i64 %81, %46
  %83 = mul i64 %78, %33
  %84 = add i64 %83, %48
  br label %88

85:
  %86 = add i64 %69, 1
  br label %68

87:
  ret void

88:
  store i64 0, ptr %10, align 8
  br label %89

89:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %90

90:
  store i64 0, ptr %8, align 8
  br label %91

91:
  %92 = load i64, ptr %8, align 8
  %93 = sub i64 %27, %92
  %94 = icmp uge i64 %93, 16
  br i1 %94, label %107, label %120

95:
  br label %207

96:
  %97 = load i64, ptr %9, align 8
  %98 = add i64 %97, 1
  store i64 %98, ptr %9, align 8
  %99 = load i64, ptr %9, align 8
  %100 = icmp ult i64 %99, %30
  br i1 %100, label %90, label %101

101:
  %102 = load i64, ptr %10, align 8
  %103 = add i64 %102, 1
  store i64 %103, ptr %10, align 8
  %104 = load i64, ptr %10, align 8
  %105 = icmp ult i64 %104, %33
  br i1 %105, label %89, label %106

106:
  br label %85

107:
  %108 = load i64, ptr %8, align 8
  %109 = load i64, ptr %9, align 8
  %110 = load i64, ptr %10, align 8
  %111 = mul i64 %110, %30
  %112 = add i64 %111, %109
  %113 = mul i64 %112, %27
  %114 = add i64 %113, %108
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  store <16 x i1> zeroinitializer, ptr %18, align 2
  store <16 x i1> zeroinitializer, ptr %19, align 2
  store i64 poison, ptr %20, align 8
  br label %122

115:
  %116 = load i64, ptr %8, align 8
  %117 = add i64 %116, 16
  store i64 %117, ptr %8, align 8
  %118 = load i64, ptr %8, align 8
  %119 = icmp ult i64 %118, %27
  br i1 %119, label %91, label %96

120:
  %121 = load i64, ptr %8, align 8
  store i64 %121, ptr %11, align 8
  store i64 %27, ptr %12, align 8
  br label %95

122:
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store i64 0, ptr %20, align 8
  br label %123

123:
  store <16 x i1> zeroinitializer, ptr %17, align 2
  %124 = load i64, ptr %20, align 8
  %125 = add i64 %80, %108
  store i64 %125, ptr %21, align 8
  %126 = shl i64 %125, 4
  %127 = getelementptr i8, ptr %60, i64 %126
  %128 = getelementptr i8, ptr %127, i64 %124
  %129 = load <16 x i32>, ptr %128, align 4
  %130 = getelementptr i8, ptr %128, i64 64
  %131 = load <16 x i32>, ptr %130, align 4
  %132 = getelementptr i8, ptr %128, i64 128
  %133 = load <16 x i32>, ptr %132, align 4
  %134 = getelementptr i8, ptr %128, i64 180
  %135 = load <16 x i32>, ptr %134, align 4
  %136 = shufflevector <16 x i32> %129, <16 x i32> %131, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %137 = shufflevector <16 x i32> %136, <16 x i32> %133, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 20, i32 24, i32 28, i32 poison, i32 poison, i32 poison, i32 poison>
  %138 = shufflevector <16 x i32> %137, <16 x i32> %135, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 19, i32 23, i32 27, i32 31>
  %139 = mul i64 %124, 16
  %140 = getelementptr i8, ptr %15, i64 %139
  store <16 x i32> %138, ptr %140, align 4
  %141 = add i64 %124, 4
  %142 = icmp eq i64 %141, 16
  br i1 %142, label %205, label %206

143:
  store <16 x i1> zeroinitializer, ptr %19, align 2
  %144 = load i64, ptr %21, align 8
  %145 = mul i64 %144, 4
  %146 = getelementptr i8, ptr %60, i64 %145
  %147 = load <16 x i32>, ptr %146, align 4
  %148 = and <16 x i32> %147, splat (i32 3)
  %149 = zext <16 x i32> %148 to <16 x i64>
  %150 = insertelement <16 x ptr> poison, ptr %15, i32 0
  %151 = shufflevector <16 x ptr> %150, <16 x ptr> poison, <16 x i32> zeroinitializer
  %152 = getelementptr i8, <16 x ptr> %151, <16 x i64> <i64 0, i64 4, i64 8, i64 12, i64 16, i64 20, i64 24, i64 28, i64 32, i64 36, i64 40, i64 44, i64 48, i64 52, i64 56, i64 60>
  %153 = mul <16 x i64> %149, splat (i64 64)
  %154 = getelementptr i8, <16 x ptr> %152, <16 x i64> %153
  %155 = extractelement <16 x ptr> %154, i32 0
  %156 = extractelement <16 x ptr> %154, i32 1
  %157 = extractelement <16 x ptr> %154, i32 2
  %158 = extractelement <16 x ptr> %154, i32 3
  %159 = extractelement <16 x ptr> %154, i32 4
  %160 = extractelement <16 x ptr> %154, i32 5
  %161 = extractelement <16 x ptr> %154, i32 6
  %162 = extractelement <16 x ptr> %154, i32 7
  %163 = extractelement <16 x ptr> %154, i32 8
  %164 = extractelement <16 x ptr> %154, i32 9
  %165 = extractelement <16 x ptr> %154, i32 10
  %166 = extractelement <16 x ptr> %154, i32 11
  %167 = extractelement <16 x ptr> %154, i32 12
  %168 = extractelement <16 x ptr> %154, i32 13
  %169 = extractelement <16 x ptr> %154, i32 14
  %170 = extractelement <16 x ptr> %154, i32 15
  %171 = load i32, ptr %155, align 4
  %172 = insertelement <16 x i32> poison, i32 %171, i32 0
  %173 = load i32, ptr %156, align 4
  %174 = insertelement <16 x i32> %172, i32 %173, i32 1
  %175 = load i32, ptr %157, align 4
  %176 = insertelement <16 x i32> %174, i32 %175, i32 2
  %177 = load i32, ptr %158, align 4
  %178 = insertelement <16 x i32> %176, i32 %177, i32 3
  %179 = load i32, ptr %159, align 4
  %180 = insertelement <16 x i32> %178, i32 %179, i32 4
  %181 = load i32, ptr %160, align 4
  %182 = insertelement <16 x i32> %180, i32 %181, i32 5
  %183 = load i32, ptr %161, align 4
  %184 = insertelement <16 x i32> %182, i32 %183, i32 6
  %185 = load i32, ptr %162, align 4
  %186 = insertelement <16 x i32> %184, i32 %185, i32 7
  %187 = load i32, ptr %163, align 4
  %188 = insertelement <16 x i32> %186, i32 %187, i32 8
  %189 = load i32, ptr %164, align 4
  %190 = insertelement <16 x i32> %188, i32 %189, i32 9
  %191 = load i32, ptr %165, align 4
  %192 = insertelement <16 x i32> %190, i32 %191, i32 10
  %193 = load i32, ptr %166, align 4
  %194 = insertelement <16 x i32> %192, i32 %193, i32 11
  %195 = load i32, ptr %167, align 4
  %196 = insertelement <16 x i32> %194, i32 %195, i32 12
  %197 = load i32, ptr %168, align 4
  %198 = insertelement <16 x i32> %196, i32 %197, i32 13
  %199 = load i32, ptr %169, align 4
  %200 = insertelement <16 x i32> %198, i32 %199, i32 14
  %201 = load i32, ptr %170, align 4
  %202 = insertelement <16 x i32> %200, i32 %201, i32 15
  %203 = mul i64 %144, 4
  %204 = getelementptr i8, ptr %62, i64 %203
  store <16 x i32> %202, ptr %204, align 4
  store i32 -1, ptr %7, align 4
  br label %115

205:
  br label %143

206:
  store i64 %141, ptr %20, align 8
  br label %123

207:
  %208 = load i64, ptr %11, align 8
  %209 = load i64, ptr %9, align 8
  %210 = load i64, ptr %10, align 8
  %211 = mul i64 %210, %30
  %212 = add i64 %211, %209
  %213 = mul i64 %212, %27
  %214 = add i64 %213, %208
  br label %225

215:
  %216 = load i64, ptr %11, align 8
  %217 = add i64 %216, 1
  store i64 %217, ptr %11, align 8
  %218 = load i64, ptr %11, align 8
  %219 = load i64, ptr %12, align 8
  %220 = icmp ult i64 %218, %219
  br i1 %220, label %207, label %221

221:
  %222 = load i64, ptr %12, align 8
  store i64 %222, ptr %8, align 8
  %223 = load i64, ptr %12, align 8
  %224 = icmp ult i64 %223, %27
  br i1 %224, label %91, label %96

225:
  store i64 0, ptr %23, align 8
  br label %226

226:
  %227 = load i64, ptr %23, align 8
  %228 = add i64 %80, %208
  store i64 %228, ptr %24, align 8
  %229 = shl i64 %228, 4
  %230 = getelementptr i8, ptr %60, i64 %229
  %231 = getelementptr i8, ptr %230, i64 %227
  %232 = load i32, ptr %231, align 4
  %233 = mul i64 %227, 16
  %234 = getelementptr i8, ptr %22, i64 %233
  store i32 %232, ptr %234, align 4
  %235 = add i64 %227, 4
  %236 = icmp eq i64 %235, 16
  br i1 %236, label %249, label %250

237:
  %238 = load i64, ptr %24, align 8
  %239 = mul i64 %238, 4
  %240 = getelementptr i8, ptr %60, i64 %239
  %241 = load i32, ptr %240, align 4
  %242 = and i32 %241, 3
  %243 = zext i32 %242 to i64
  %244 = mul i64 %243, 64
  %245 = getelementptr i8, ptr %22, i64 %244
  %246 = load i32, ptr %245, align 4
  %247 = mul i64 %238, 4
  %248 = getelementptr i8, ptr %62, i64 %247
  store i32 %246, ptr %248, align 4
  store i32 -1, ptr %7, align 4
  br label %215

249:
  br label %237

250:
  store i64 %235, ptr %23, align 8
  br label %226
