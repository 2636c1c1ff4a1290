define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  br label %7

7:
  %8 = load i32, ptr %1, align 4
  %9 = zext i32 %8 to i64
  %10 = getelementptr i8, ptr %1, i64 4
  %11 = load i32, ptr %10, align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr i8, ptr %1, i64 8
  %14 = load i32, ptr %13, align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr i8, ptr %1, i64 16
  %17 = load i32, ptr %16, align 4
  %18 = zext i32 %17 to i64
  %19 = getelementptr i8, ptr %1, i64 20
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr i8, ptr %1, i64 24
  %23 = load i32, ptr %22, align 4
  %24 = zext i32 %23 to i64
  %25 = getelementptr i8, ptr %1, i64 32
  %26 = load i64, ptr %25, align 8
  %27 = getelementptr i8, ptr %1, i64 40
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr i8, ptr %1, i64 48
  %30 = load i64, ptr %29, align 8
  %31 = getelementptr i8, ptr %1, i64 28
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 12
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr i8, ptr %1, i64 72
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr i8, ptr %1, i64 56
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr i8, ptr %4, i64 %40
  %42 = load ptr, ptr %0, align 8
  %43 = getelementptr i8, ptr %0, i64 8
  %44 = load i32, ptr %43, align 4
  %45 = add i64 %2, %3
  %46 = getelementptr i8, ptr %1, i64 80
  %47 = load ptr, ptr %46, align 8
  store i8 0, ptr %6, align 1
  %48 = icmp eq ptr %47, null
  %49 = select i1 %48, ptr %6, ptr %47
  br label %50

50:
  %51 = phi i64 [ %2, %7 ], [ %68, %67 ]
  %52 = icmp ult i64 %51, %45
  br i1 %52, label %53, label %69

53:
  %54 = load atomic i8, ptr %49 monotonic, align 1
  %55 = icmp ne i8 %54, 0
  br i1 %55, label %69, label %56

56:
  %57 = udiv i64 %51, %18
  %58 = urem i64 %51, %18
  %59 = urem i64 %57, %21
  %60 = udiv i64 %57, %21
  %61 = mul i64 %58, %9
  %62 = add i64 %61, %26
  %63 = mul i64 %59, %12
  %64 = add i64 %63, %28
  %65 = mul i64 %60, %15
  %66 = add i64 %65, %30
  br label %70

67:
  %68 = add i64 %51, 1
  br label %50

69:
  ret void

70:
  %71 = phi i64 [ 0, %56 ], [ %91, %90 ]
  br label %72

72:
  %73 = phi i64 [ 0, %70 ], [ %88, %87 ]
  br label %74

74:
  %75 = phi i64 [ 0, %72 ], [ %81, %80 ]
  %76 = mul i64 %71, %12
  %77 = add i64 %76, %73
  %78 = mul i64 %77, %9
  %79 = add i64 %78, %75
  br label %83

80:
  %81 = add nuw nsw i64 %75, 1
  %82 = icmp ult i64 %81, %9
  br i1 %82, label %74, label %87

83:
  %84 = add i64 %62, %75
  %85 = mul i64 %84, 4
  %86 = getelementptr i8, ptr %42, i64 %85
  store i32 %44, ptr %86, align 4
  br label %80

87:
  %88 = add nuw nsw i64 %73, 1
  %89 = icmp ult i64 %88, %12
  br i1 %89, label %72, label %90

90:
  %91 = add nuw nsw i64 %71, 1
  %92 = icmp ult i64 %91, %15
  br i1 %92, label %70, label %67
